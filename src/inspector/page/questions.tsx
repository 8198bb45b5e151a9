import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { shownText } from "../../kernel/value-text.ts";
import type { PendingQuestion } from "../../runtime/record/questions.ts";
import type { OpenRun } from "./open-run.ts";
import { QuestionCard } from "./question-form.tsx";
import type { RunActions } from "./run-source.ts";

interface QuestionsProps {
  readonly run: OpenRun;
  readonly actions: RunActions | undefined;
  readonly ask: () => void;
}

/** The questions of a run that wait, and those that somebody else has answered while they stood here. */
export function Questions({ run, actions, ask }: QuestionsProps) {
  const seen = useRef(new Map<string, PendingQuestion>());
  const settled = useSignal<ReadonlySet<string>>(new Set());
  const questions = run.standing.value?.questions ?? [];
  for (const question of questions) seen.current.set(question.id, question);
  const waiting = new Set(questions.map(({ id }) => id));
  const gone = [...seen.current.values()].filter(({ id }) => !waiting.has(id) && !settled.value.has(id));
  const settle = (id: string): void => {
    settled.value = new Set([...settled.value, id]);
  };
  return (
    <>
      {gone.map(({ id, role }) => (
        <div key={id} class="note note-warn" role="status">
          <span>The question of {shownText(role, 60)} is closed: it was answered elsewhere, or the run went on without an answer.</span>
          <button type="button" class="button" onClick={() => settle(id)}>
            Understood
          </button>
        </div>
      ))}
      {questions.map((question) => (
        <QuestionCard
          key={question.id}
          question={question}
          answer={
            actions &&
            (async (answer) => {
              await actions.answer(run.id, question.id, answer);
              settle(question.id);
              ask();
            })
          }
        />
      ))}
    </>
  );
}
