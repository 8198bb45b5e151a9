const choose = (from, to, value) => [
  { do: "select", at: "#from", value: from },
  { do: "select", at: "#to", value: to },
  { do: "type", at: "#value", text: value },
];
/** No figure is there, whether the element is empty or hidden. */
const noResult = { do: "expect", at: "#result", lacks: "0123456789".split("") };
const result = (equals) => ({ do: "expect", at: "#result", equals });

export const list = {
  size: "S",
  stack: "page",
  start: { page: true },
  quality: ["no network"],
  checks: [
    { says: "kilometres to metres", page: [...choose("km", "m", "1.5"), result("1500")] },
    { says: "miles to kilometres, six significant digits", page: [...choose("mi", "km", "1"), result("1.60934")] },
    { says: "feet to inches", page: [...choose("ft", "in", "3"), result("36")] },
    { says: "inches to centimetres", page: [...choose("in", "cm", "10"), result("25.4")] },
    { says: "pounds to kilograms", page: [...choose("lb", "kg", "10"), result("4.53592")] },
    { says: "ounces to grams", page: [...choose("oz", "g", "16"), result("453.592")] },
    { says: "Celsius to Fahrenheit", page: [...choose("C", "F", "100"), result("212")] },
    { says: "Fahrenheit to Kelvin, below zero", page: [...choose("F", "K", "-40"), result("233.15")] },
    { says: "minus forty is minus forty", page: [...choose("C", "F", "-40"), result("-40")] },
    {
      says: "the second list has the units of the same kind only",
      page: [
        { do: "select", at: "#from", value: "kg" },
        { do: "expect", at: "#to option", count: 4 },
        { do: "expect", at: "#to option[value='m']", count: 0 },
        { do: "select", at: "#from", value: "C" },
        { do: "expect", at: "#to option", count: 3 },
        { do: "select", at: "#from", value: "m" },
        { do: "expect", at: "#to option", count: 6 },
      ],
    },
    { says: "the first list offers all thirteen", page: [{ do: "expect", at: "#from option", count: 13 }] },
    {
      says: "swap swaps the units and converts again",
      page: [
        ...choose("km", "m", "2"),
        { do: "click", at: "#swap" },
        { do: "expect", at: "#from", value: "m" },
        { do: "expect", at: "#to", value: "km" },
        result("0.002"),
      ],
    },
    {
      says: "no number: a message, and no result",
      page: [...choose("km", "m", "abc"), { do: "expect", at: "#error", visible: true, matches: "\\S" }, noResult],
    },
    {
      says: "the message goes when the number is good again",
      page: [
        ...choose("km", "m", "abc"),
        { do: "type", at: "#value", text: "2" },
        result("2000"),
        { do: "expect", at: "#error", lacks: "aeiou".split("") },
      ],
    },
    { says: "empty: nothing at all", page: [...choose("km", "m", "5"), { do: "type", at: "#value", text: "" }, noResult] },
    { says: "no exponent and no useless zeros", page: [...choose("cm", "km", "100"), result("0.001")] },
    { says: "zero", page: [...choose("mi", "in", "0"), result("0")] },
    {
      says: "units and number are there after a reload",
      page: [
        ...choose("lb", "oz", "2"),
        { do: "reload" },
        { do: "expect", at: "#from", value: "lb" },
        { do: "expect", at: "#to", value: "oz" },
        { do: "expect", at: "#value", value: "2" },
        result("32"),
      ],
    },
  ],
};
