"""What happens with a mail: reading, carrying out, answering."""
