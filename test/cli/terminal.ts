/** A terminal that does just what the live region asks of one: lines that scroll away, a cursor, and the few codes that it and a prompt use. */
export class Terminal {
  #lines: string[] = [""];
  #row = 0;
  #column = 0;
  isCursorHidden = false;

  /** The lines on it, without empty lines at its end. */
  get screen(): readonly string[] {
    const lines = this.#lines.map((line) => line.trimEnd());
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  write(text: string): void {
    for (const [token, code, letter] of text.matchAll(/\u001b\[([0-9;?]*)([A-Za-z])|[^]/gu)) {
      if (letter === undefined) this.#put(token);
      else this.#obey(code ?? "", letter);
    }
  }

  #put(character: string): void {
    if (character === "\r") this.#column = 0;
    else if (character === "\n") this.#down();
    else {
      const line = this.#line.padEnd(this.#column);
      this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
      this.#column += 1;
    }
  }

  #down(): void {
    this.#row += 1;
    this.#column = 0;
    if (this.#row === this.#lines.length) this.#lines.push("");
  }

  #obey(code: string, letter: string): void {
    if (letter === "A") this.#row = Math.max(0, this.#row - Number(code));
    else if (letter === "G") this.#column = Number(code) - 1;
    else if (letter === "K") this.#lines[this.#row] = this.#line.slice(0, this.#column);
    else if (letter === "J") this.#lines = [...this.#lines.slice(0, this.#row), this.#line.slice(0, this.#column)];
    else if (code === "?25") this.isCursorHidden = letter === "l";
    else if (letter !== "m") throw new Error(`the terminal does not know ${code}${letter}`);
  }

  get #line(): string {
    return this.#lines[this.#row] ?? "";
  }
}
