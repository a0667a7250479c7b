from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from ogive.showing.parts import Html, join, tag, text


class Collect(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.data, self.attributes = [], [], {}

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes.update(attributes)

    def handle_data(self, data):
        self.data.append(data)


def parsed(markup):
    reader = Collect()
    reader.feed(markup)
    reader.close()
    return reader


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs", "Cn", "Cf"])))
def test_any_text_comes_back_as_text_and_as_attribute(value):
    page = parsed(tag("p", value, title=value))
    assert page.tags == ["p"]
    assert "".join(page.data) == value
    assert page.attributes == {"title": value}


def test_hostile_text_makes_no_element():
    page = parsed(tag("p", "</p><script>alert(1)</script>", title='"><img src=x onerror=alert(1)>'))
    assert page.tags == ["p"]


def test_finished_markup_goes_in_as_it_is():
    assert tag("p", tag("b", "x"), " & ", None) == "<p><b>x</b> &amp; </p>"
    assert isinstance(join("a", Html("<br>")), Html)


def test_characters_no_page_may_hold_are_replaced_and_overrides_dropped():
    assert text("a\x00b\x85c\ud800d") == "a\ufffdb\ufffdc\ufffdd"
    assert text("safe\u202egnp.exe\u2066x") == "safegnp.exex"
    assert text("line\n\ttab") == "line\n\ttab"


def test_attributes_are_hyphenated_and_void_elements_stay_open():
    assert tag("meta", http_equiv="x") == '<meta http-equiv="x">'
    assert tag("a", class_="k", href=None, x=1.50) == '<a class="k" x="1.5"></a>'
