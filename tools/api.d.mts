export interface Program {
  faults(): readonly string[];
  close(): void;
}

export function openProgram(files?: Readonly<Record<string, string>>): Program;
