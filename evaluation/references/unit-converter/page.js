const [value, from, to, result, error] = ["value", "from", "to", "result", "error"].map((id) => document.getElementById(id));

function fill(list, names) {
  list.replaceChildren(...names.map((name) => new Option(name, name)));
}

function offer(wanted) {
  const names = Object.keys(units.kindOf(from.value));
  fill(to, names);
  to.value = names.includes(wanted) ? wanted : names[1];
}

function show() {
  const text = value.value.trim();
  const number = Number(text);
  const isWrong = text !== "" && !Number.isFinite(number);
  error.textContent = isWrong ? "Please type a number." : "";
  result.textContent = text === "" || isWrong ? "" : units.format(units.convert(number, from.value, to.value));
  localStorage.setItem("units", JSON.stringify([from.value, to.value, text]));
}

fill(from, Object.values(units.KINDS).flatMap((kind) => Object.keys(kind)));
const [lastFrom = "m", lastTo = "km", lastValue = ""] = JSON.parse(localStorage.getItem("units") ?? "[]");
from.value = lastFrom;
offer(lastTo);
value.value = lastValue;
from.addEventListener("change", () => (offer(to.value), show()));
to.addEventListener("change", show);
value.addEventListener("input", show);
document.getElementById("swap").addEventListener("click", () => {
  const [one, other] = [from.value, to.value];
  from.value = other;
  offer(one);
  show();
});
show();
