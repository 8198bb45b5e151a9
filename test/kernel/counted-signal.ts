/** A controller whose signal counts who listens to it. */
export function countedSignal(): { readonly controller: AbortController; readonly listeners: () => number } {
  const controller = new AbortController();
  let listeners = 0;
  const add = controller.signal.addEventListener.bind(controller.signal);
  controller.signal.addEventListener = (...given: Parameters<typeof add>): void => {
    listeners += 1;
    add(...given);
  };
  return { controller, listeners: () => listeners };
}
