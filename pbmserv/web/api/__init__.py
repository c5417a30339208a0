"""The API for programs and its OpenAPI document, an application mounted below ``/api``."""
