"""The WSGI application that gunicorn serves."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")

application = get_wsgi_application()

# Every page hangs on the addresses: read with the first request, they made somebody wait a second.
import_module(settings.ROOT_URLCONF)
