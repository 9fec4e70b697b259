"""The WSGI application that gunicorn serves."""

import gc
import os

from django.core.wsgi import get_wsgi_application

from panel.first_request import read_ahead

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")

application = get_wsgi_application()
read_ahead()
# What was read stays as long as the worker: looked through for garbage, it made somebody wait 0.15 s.
gc.freeze()
