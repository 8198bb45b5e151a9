(function (scope) {
  const KINDS = {
    length: { m: 1, km: 1000, cm: 0.01, mi: 1609.344, ft: 0.3048, in: 0.0254 },
    weight: { kg: 1, g: 0.001, lb: 0.45359237, oz: 0.028349523125 },
    temperature: { C: [1, 273.15], F: [5 / 9, 459.67 * (5 / 9)], K: [1, 0] },
  };
  function kindOf(unit) {
    return Object.values(KINDS).find((kind) => unit in kind);
  }
  function convert(value, from, to) {
    const kind = kindOf(from);
    const [scale, shift] = [kind[from]].flat();
    const [otherScale, otherShift] = [kind[to]].flat();
    return (value * scale + (shift ?? 0) - (otherShift ?? 0)) / otherScale;
  }
  function format(value) {
    const rounded = Number(value.toPrecision(6));
    return rounded === 0 ? "0" : rounded.toLocaleString("en", { maximumSignificantDigits: 6, useGrouping: false });
  }
  const units = { KINDS, kindOf, convert, format };
  if (typeof module === "object") module.exports = units;
  else scope.units = units;
})(this);
