"""The games of this server, one folder each; entry points announce them."""
