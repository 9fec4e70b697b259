"""``{{ finding.message|say }}``: a text in the language of the page."""

from django import template

from deployments.selectors.texts import say

register = template.Library()
register.filter("say", say)
