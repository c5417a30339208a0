"""Files and folders of ours: private, whole or not there, and regular."""
