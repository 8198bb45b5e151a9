/** The answer of a planner: tasks, each after the one before. */
export function planOf(tasks) {
  return Array.from({ length: tasks }, (_, k) => ({
    id: `task ${k}`,
    title: `What is done as number ${k}`,
    done: k < 3,
    after: k === 0 ? [] : [`task ${k - 1}`],
  }));
}
