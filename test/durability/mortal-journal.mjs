/** A journal under which the process dies right after so many appends have become durable. */
export function mortal(journal, killAt) {
  let appends = 0;
  return {
    create: (id) => journal.create(id),
    claim: (...given) => journal.claim(...given),
    release: (...given) => journal.release(...given),
    read: (id, from) => journal.read(id, from),
    runs: () => journal.runs(),
    remove: (id) => journal.remove(id),
    close: () => journal.close(),
    append: async (...args) => {
      await journal.append(...args);
      appends += 1;
      if (appends === killAt) process.kill(process.pid, "SIGKILL");
    },
  };
}
