import type { Shape } from "../kernel/argument.ts";

/** The shape of an option that is a number with a condition. @param says "a number between 0 and 1" */
export function numberWith(says: string, holds: (value: number) => boolean): Shape {
  return { says, fits: (value) => typeof value === "number" && holds(value) };
}
