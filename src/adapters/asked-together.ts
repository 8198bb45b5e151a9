import { TurnQueue } from "./turn-queue.ts";

interface Asked<Q, A> {
  readonly question: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/** Asks the questions of one turn of the event loop together. A failure is the answer to all of them. */
export class AskedTogether<Q, A> {
  readonly #queue: TurnQueue<Asked<Q, A>>;

  constructor(answer: (questions: readonly Q[]) => Promise<readonly A[]>) {
    this.#queue = new TurnQueue(async (batch) => {
      try {
        const answers = await answer(batch.map(({ question }) => question));
        for (const [nth, { resolve }] of batch.entries()) resolve(answers[nth] as A);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    });
  }

  ask(question: Q): Promise<A> {
    return new Promise((resolve, reject) => this.#queue.add({ question, resolve, reject }));
  }
}
