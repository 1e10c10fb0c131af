"""Tests what a guest reaches: python3 probe.py LIMIT_S, [[host, port], ...] on standard input.

Prints the addresses to which a connection could be opened. Network.reaches() runs it in place of a
guest.
"""
import json
import socket
import sys
import threading


def main():
    answered = []

    def connect(host, port):
        try:
            with socket.create_connection((host, port), timeout=float(sys.argv[1])):
                answered.append((host, port))
        except OSError:
            pass
    threads = [threading.Thread(target=connect, args=t) for t in json.load(sys.stdin)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    json.dump(sorted(answered), sys.stdout)


main()
