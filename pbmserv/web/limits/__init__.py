"""Limits on the processor time and the forms of each network, which keep strangers in bounds."""
