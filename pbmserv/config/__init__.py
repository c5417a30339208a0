"""What an operator can choose: read, checked, and described."""

from pbmserv.config.settings import (
    CONFIG_FILE,
    Loaded,
    Settings,
    described,
    load,
    public_url,
    shown,
)
from pbmserv.config.values import PREFIX, Listen, LogFormat, Setting, Signup, blank_passwords

__all__ = [
    "CONFIG_FILE",
    "PREFIX",
    "Listen",
    "Loaded",
    "LogFormat",
    "Setting",
    "Settings",
    "Signup",
    "blank_passwords",
    "described",
    "load",
    "public_url",
    "shown",
]
