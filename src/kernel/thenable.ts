/** Whether a value has to be waited for. What has not is gone on with at once: a promise costs more than most of what roles do in one go. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
