/** Runs only the bundled function: `node invocation-process.ts BUNDLE`. Each message is one invocation. */
import { pathToFileURL } from 'node:url';

export type InvocationFigures = {
  /** From the start of the process until the function is loaded: what Lambda calls init. */
  readonly init: Work;
  readonly tick: Work;
  readonly peakRssMib: number;
};

/** Elapsed time and processor time. Processor time can be longer, as several threads run at once. */
export type Work = { readonly ms: number; readonly cpuMs: number };

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const [bundle = ''] = process.argv.slice(2);
/** The timeout of the function in the stack. */
const TIMEOUT_MS = 55_000;

const { handler }: { readonly handler: Handler } = await import(pathToFileURL(bundle).href);
const init: Work = { ms: performance.now(), cpuMs: cpuMs() };

process.on('message', async () => {
  const [startedAt, cpuBefore] = [performance.now(), cpuMs()];
  await handler(
    { tick: true },
    {
      functionName: 'bench',
      awsRequestId: 'bench',
      getRemainingTimeInMillis: () => startedAt + TIMEOUT_MS - performance.now(),
    },
  );
  const figures: InvocationFigures = {
    init,
    tick: { ms: performance.now() - startedAt, cpuMs: cpuMs() - cpuBefore },
    peakRssMib: process.resourceUsage().maxRSS / 1024,
  };
  process.send?.(figures);
});

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
