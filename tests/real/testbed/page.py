"""The page of the view in Chromium, as an operator uses and reads it."""
from . import browser


def connect(b, url, token):
    """Opens the page at url and logs in."""
    b.go(url)
    b.type("#token", token)
    b.press(browser.ENTER)


def address_of(cluster):
    """The URL of the page, from the ConfigMap that drover writes in its host cluster, or None."""
    found = cluster.call("GET", "/api/v1/namespaces/drover-system/configmaps/drover-view")
    return found and found["data"]["endpoint"] + "/"


def attention(b):
    """What the page shows below "Needs attention", from top to bottom: for each entry the visible text of its
    parts, and `since` in RFC 3339."""
    return b.run("""
        return [...document.querySelectorAll("#stuck > li")].filter((li) => li.checkVisibility()).map((li) => {
          const text = (selector) => (li.querySelector(selector) || {innerText: ""}).innerText.trim();
          const [object, state, age, need] = [...li.querySelector("p").children].map((e) => e.innerText.trim());
          return {object, state, age, need, why: text(".why"), since: li.querySelector("time").dateTime,
                  helps: [...li.querySelectorAll("p")].map((p) => p.innerText).filter((t) => t.startsWith("What helps")),
                  command: text("code")};
        });""")
