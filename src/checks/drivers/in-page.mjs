/* Functions that Chromium runs in the page. Each uses its arguments and the page alone. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** Runs before the page's own scripts: what these print without end would fill the driver. @param {number} most */
export function boundConsole(most) {
  const entries = Object.entries(/** @type {Record<string, unknown>} */ (/** @type {unknown} */ (console)));
  for (const [name, real] of entries) {
    if (typeof real !== "function") continue;
    let left = most;
    /** @param {unknown[]} given */
    const bounded = (...given) => {
      left -= 1;
      if (left < 0) return;
      const shown = given.slice(0, 5).map((one) => (typeof one === "string" ? one.slice(0, 2000) : one));
      real.apply(console, shown);
    };
    Reflect.set(console, name, bounded);
  }
}

/** Returns the text of elements that a user sees. @param {Element[]} list @param {number} most characters */
export function seenOf(list, most) {
  /** @param {any} element @returns {boolean} */
  const isShown = (element) => {
    const box = element.closest("option, optgroup") === null ? element : (element.closest("select") ?? element);
    if (document.head?.contains(box) === true) return true;
    if (getComputedStyle(box).display === "contents") return box.parentElement !== null && isShown(box.parentElement);
    return box.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  };
  /** @param {any} field @returns {string} */
  const labelOf = (field) => field.selectedOptions?.[0]?.label ?? "";
  /** @param {any} element @returns {boolean} */
  const isField = (element) => ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);
  /** @param {any} element @returns {string} */
  const textOf = (element) => {
    if (!isField(element)) return element.innerText ?? element.textContent;
    return element.tagName === "SELECT" ? labelOf(element) : element.value;
  };
  /** @param {any} element @returns {string[]} */
  const valuesOf = (element) => {
    if (element === undefined) return [];
    if (["checkbox", "radio"].includes(element.type))
      return element.checked ? [element.value, "on", "true", "checked"] : ["off", "false", "unchecked"];
    if (element.tagName === "SELECT") return [element.value, labelOf(element)];
    if (isField(element)) return [element.value];
    return element.isContentEditable ? [element.innerText.trim()] : [element.getAttribute("value") ?? ""];
  };
  // Letters as they are written: a style may show them in capitals.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { text-transform: none !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const shown = list.filter(isShown);
  const text = shown.map(textOf).join("\n").slice(0, most);
  const values = valuesOf(shown[0]).map((one) => String(one).slice(0, 2000));
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  return { count: shown.length, hidden: list.length - shown.length, text, values };
}

export function showsNothing() {
  if (document.body === null) return true;
  const things = document.body.querySelectorAll("img, svg, canvas, video, audio, input, button, textarea, select, iframe, object, embed");
  return document.body.innerText.trim() === "" && ![...things].some((one) => one.checkVisibility());
}
