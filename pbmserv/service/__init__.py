"""The service: carries out what mails ask for, one mail in one transaction."""
