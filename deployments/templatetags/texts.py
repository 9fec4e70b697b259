"""``{{ finding.message|say }}``: texts, lists and words in the language of the page."""

from django import template

from deployments.selectors.texts import listed, role_name, say

register = template.Library()
register.filter("listed", listed)
register.filter("role_name", role_name)
register.filter("say", say)
