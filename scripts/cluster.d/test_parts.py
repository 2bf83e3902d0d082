"""The links do to connections what they say, and the receivers note what they are sent."""

import email.message
import json
import smtplib
import socket
import threading
import time
import unittest
import urllib.request

from links import Links
from processes import free_ports
from receivers import hook_server, mail_server


def answer(server):
    """Sends back whatever comes, on every connection."""
    while True:
        connection, _ = server.accept()
        threading.Thread(target=echo, args=(connection,), daemon=True).start()


def echo(connection):
    try:
        while data := connection.recv(100):
            connection.sendall(data)
    except OSError:
        pass


class LinksTest(unittest.TestCase):
    def setUp(self):
        self.port, target = free_ports(2)
        self.server = socket.create_server(("127.0.0.1", target))
        threading.Thread(target=answer, args=(self.server,), daemon=True).start()
        self.link = Links().add("link", self.port, target)

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.settimeout(30)
        self.addCleanup(connection.close)
        return connection

    def exchange(self, connection, text):
        connection.sendall(text)
        return connection.recv(100)

    def test_bytes_pass(self):
        self.assertEqual(self.exchange(self.connect(), b"one"), b"one")

    def test_held_bytes_arrive_when_the_link_heals(self):
        for mode in ("hold", "mute"):
            connection = self.connect()
            self.exchange(connection, b"one")
            self.link.set(mode)
            connection.settimeout(0.3)
            with self.assertRaises(TimeoutError):
                self.exchange(connection, b"two")
            connection.settimeout(30)
            self.link.heal()
            self.assertEqual(connection.recv(100), b"two")

    def test_a_cut_link_resets_connections_old_and_new(self):
        old = self.connect()
        self.exchange(old, b"one")
        self.link.set("refuse")
        for connection in (old, self.connect()):
            with self.assertRaises(ConnectionError):
                self.exchange(connection, b"two")
                self.exchange(connection, b"three")
        self.link.heal()
        self.assertEqual(self.exchange(self.connect(), b"four"), b"four")

    def test_a_slow_link_delays_both_ways(self):
        self.link.set("open", 0.1)
        began = time.monotonic()
        self.exchange(self.connect(), b"one")
        self.assertGreater(time.monotonic() - began, 0.2)


class ReceiversTest(unittest.TestCase):
    def test_a_mail_is_noted_with_its_id(self):
        server = mail_server()
        message = email.message.EmailMessage()
        message["message-id"], message["to"], message["from"] = "<1@a>", "b@c.example", "d@e.example"
        message.set_content(".one\n")
        with smtplib.SMTP("127.0.0.1", server.port) as client:
            client.send_message(message)
        (noted,) = server.noted
        self.assertEqual((noted["id"], noted["text"]), ("<1@a>", ".one"))

    def test_a_reminder_is_noted_with_its_id(self):
        server = hook_server()
        body, headers = json.dumps({"note": "one"}).encode(), {"webhook-id": "1"}
        url = f"http://127.0.0.1:{server.port}/"
        urllib.request.urlopen(urllib.request.Request(url, body, headers)).close()
        (noted,) = server.noted
        self.assertEqual((noted["id"], noted["text"]), ("1", "one"))


if __name__ == "__main__":
    unittest.main()
