export interface Program {
  close(): void;
}

export function openProgram(files?: Readonly<Record<string, string>>): Program;
