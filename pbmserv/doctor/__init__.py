"""Checks an installation from outside: names, ports, certificates, Postfix, disk, copies, clock."""
