/** A process with nothing but the bundled function in it: `node invocation-process.ts BUNDLE`. Each message to it is one invocation. */
import { pathToFileURL } from 'node:url';

export type InvocationFigures = {
  /** From the start of the process until the function is loaded: what Lambda calls init. */
  readonly init: Work;
  readonly tick: Work;
  /** The most so far. */
  readonly peakRssMib: number;
};

/** On the clock, and of the processor: more of it than of the clock where threads work side by side. */
export type Work = { readonly ms: number; readonly cpuMs: number };

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const [bundle = ''] = process.argv.slice(2);
/** What the stack gives the function. */
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

/** So far. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
