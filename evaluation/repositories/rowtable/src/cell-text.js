/** The text of a value in a cell. Nothing at all is an empty cell; objects are shown as JSON. */
export function cellText(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}
