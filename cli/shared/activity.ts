/** Shows on a terminal that a command still works. */
import type { CliEnvironment } from './cli-environment.ts';

const QUIET_MS = 2_000;
const REFRESH_MS = 1_000;
/** Back to the start of the line, and clear it. */
const CLEAR = '\r\u001b[K';

type Shown = Pick<CliEnvironment, 'terminal' | 'quietMs'>;

/** After two seconds a line says what `work` does and for how long. `work` calls `clear` before it prints. */
export async function whileWorking<T>(
  doing: string,
  { terminal, quietMs = QUIET_MS }: Shown,
  work: (clear: () => void) => Promise<T>,
): Promise<T> {
  if (terminal === undefined) return work(() => {});
  const startedAt = performance.now();
  let isShown = false;
  const show = (): void => {
    isShown = true;
    terminal.write(`${CLEAR}${doing}, ${Math.round((performance.now() - startedAt) / 1000)} s`);
    timer = setTimeout(show, REFRESH_MS);
  };
  const clear = (): void => {
    if (isShown) terminal.write(CLEAR);
    isShown = false;
  };
  let timer = setTimeout(show, quietMs);
  try {
    return await work(clear);
  } finally {
    clearTimeout(timer);
    clear();
  }
}
