export function region(source: string, name: string): string | undefined;
export function shownCode(source: string, name: string | undefined): string | undefined;
export function withExampleCode(page: string, read: (path: string) => string): string;
