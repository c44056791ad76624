#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An SMTP server with scripted faults, on 127.0.0.1 only.

usage: smtp_server.py --folder FOLDER [--certificate FILE] MODE [MODE ...]

Prints its port, then serves one session after the other: the first with the first mode, the second
with the second, and all further ones with the last. A message that was answered with 250 after its
dot lies in FOLDER as session-number.eml, as it came over the wire but without dot-stuffing; beside
it, session-number.commands holds what the client said.
"""

import argparse
import os
import socket
import ssl
import time

# What a mode changes: replies by the command they answer, and what happens instead of a reply.
MODES = {
    "accept": {},
    "greeting-554": {"greeting": "554 no service for you"},
    "sender-550": {"MAIL": "550 I do not know you"},
    "recipient-451": {"RCPT": "451 greylisted, come back later"},
    "recipient-550": {"RCPT": "550 no such user"},
    "recipients-mixed": {"RCPT": None},  # by the address, see reply_to_recipient
    "data-451": {"dot": "451 try again later"},
    "data-550": {"dot": "550 this is spam"},
    "hostile-reply": {"RCPT": "550 \x1b[31mred\x1b[0m \xff"},
    "drop-mid-data": {"DATA": "354 go on", "during-data": "drop"},
    "drop-after-dot": {"dot": "drop"},
    "hang-greeting": {"greeting": "hang"},
    "hang-after-dot": {"dot": "hang"},
    "drip": {"greeting": "drip"},
    "drop-at-quit": {"QUIT": "drop"},
    "hang-at-quit": {"QUIT": "hang"},
    "starttls": {"extensions": ["STARTTLS"]},
}


class Dropped(Exception):
    """The session is over without a word."""


class Session:
    def __init__(self, connection, mode, number, options):
        self.connection = connection
        self.mode = MODES[mode]
        self.number = number
        self.options = options
        self.pending = b""
        self.accepted = 0

    def path(self, suffix):
        return os.path.join(self.options.folder, f"{self.number}.{suffix}")

    def read_line(self):
        while b"\n" not in self.pending:
            received = self.connection.recv(4096)
            if not received:
                raise Dropped
            self.pending += received
        line, self.pending = self.pending.split(b"\n", 1)
        return line + b"\n"

    def send(self, reply):
        """A reply, or what a mode does instead of one."""
        if reply == "drop":
            raise Dropped
        if reply == "hang":
            while self.connection.recv(4096):
                pass
            raise Dropped
        if reply == "drip":
            while True:
                self.connection.sendall(b"220-wait\r\n")
                time.sleep(0.2)
        self.connection.sendall(reply.encode("latin-1") + b"\r\n")

    def answer(self, step, otherwise):
        self.send(self.mode.get(step) or otherwise)

    def greet(self, verb):
        lines = ["fake.example.org"] + self.mode.get("extensions", [])
        if verb == "HELO":
            lines = lines[:1]
        for line in lines[:-1]:
            self.send("250-" + line)
        self.send("250 " + lines[-1])

    def reply_to_recipient(self, line):
        for part, reply in (("temporary", "451 later"), ("refused", "550 no such user")):
            if self.mode.get("RCPT", "") is None and part in line:
                return reply
        return self.mode.get("RCPT") or "250 fine"

    def receive_data(self):
        if not self.accepted:
            self.send("503 no recipient")
            return
        self.answer("DATA", "354 go on")
        if self.mode.get("during-data") == "drop":
            self.connection.recv(10)
            raise Dropped
        message = b""
        while (line := self.read_line()) != b".\r\n":
            message += line[1:] if line.startswith(b".") else line
        reply = self.mode.get("dot") or "250 stored"
        if reply.startswith("250"):
            with open(self.path("eml"), "wb") as file:
                file.write(message)
        self.send(reply)

    def start_tls(self):
        self.send("220 go on")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.options.certificate)
        try:
            self.connection = context.wrap_socket(self.connection, server_side=True)
        except ssl.SSLError as error:
            raise Dropped from error
        self.mode = {}

    def obey(self, line):
        verb = line[:4].upper()
        if verb in ("EHLO", "HELO"):
            self.greet(verb)
        elif verb == "STAR":
            self.start_tls()
        elif verb == "MAIL":
            self.answer("MAIL", "250 fine")
        elif verb == "RCPT":
            reply = self.reply_to_recipient(line)
            self.accepted += reply.startswith("250")
            self.send(reply)
        elif verb == "DATA":
            self.receive_data()
        elif verb == "QUIT":
            self.answer("QUIT", "221 bye")
            raise Dropped
        else:
            self.send("250 fine")

    def run(self):
        self.answer("greeting", "220 fake.example.org ESMTP")
        with open(self.path("commands"), "w", encoding="latin-1", newline="") as commands:
            while True:
                line = self.read_line().decode("latin-1")
                commands.write(line)
                commands.flush()
                self.obey(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--certificate", help="PEM file with key and certificate, for starttls")
    parser.add_argument("modes", nargs="+", choices=MODES, metavar="MODE")
    options = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    number = 0
    while True:
        connection, _ = listener.accept()
        mode = options.modes[min(number, len(options.modes) - 1)]
        number += 1
        session = Session(connection, mode, number, options)
        try:
            session.run()
        except (Dropped, ConnectionError, BrokenPipeError):
            pass
        session.connection.close()


if __name__ == "__main__":
    main()
