"""Repository, issue and edit buttons: all on, or none, by one address.

Binder and Colab stand below the title of each notebook (``downloads_in_book.py``), by the same
address. It is ``repository.url`` in ``_config.yml``. Jupyter Book refuses the buttons without one,
and would otherwise point them at its own repository.
"""


def set_buttons(app, config):
    options = config.html_theme_options
    known = bool(options.get("repository_url"))
    for button in ("use_repository_button", "use_issues_button", "use_edit_page_button"):
        options[button] = known
    options["launch_buttons"] = {}
    options["use_download_button"] = True
    if not known:
        options.pop("repository_url", None)


def setup(app):
    app.connect("config-inited", set_buttons, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
