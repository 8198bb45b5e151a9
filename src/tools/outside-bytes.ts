/** The text of bytes, by the charset their server or the page itself names; UTF-8 else. */
export function textOfBytes(bytes: Buffer, contentType: string): string {
  const named = /charset\s{0,5}=\s{0,5}["']?([\w:.-]{1,40})/i;
  const label = named.exec(contentType)?.[1] ?? named.exec(bytes.subarray(0, 1024).toString("latin1"))?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // A label nobody knows.
    return new TextDecoder().decode(bytes);
  }
}

/** Whether bytes are no text: none has NUL bytes, but for UTF-16, which names itself by its first two. */
export function isBinary(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 2).toString("hex");
  return start !== "fffe" && start !== "feff" && bytes.subarray(0, 8192).includes(0);
}
