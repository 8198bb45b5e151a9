import type { ChatModel } from "../../../src/index.ts";

/** Counts the calls of the models that it is given. */
export function countingModel() {
  const counter = {
    made: 0,
    reset(): void {
      counter.made = 0;
    },
    count(model: ChatModel): ChatModel {
      return {
        ...model,
        chat: (request, o) => {
          counter.made += 1;
          return model.chat(request, o);
        },
        stream: (request, o) => {
          counter.made += 1;
          return model.stream(request, o);
        },
      };
    },
  };
  return counter;
}
