/** A process with nothing but the bundled function in it: `node invocation-process.ts BUNDLE`. Each message to it is one invocation. */
import { pathToFileURL } from 'node:url';

export type InvocationFigures = {
  readonly tickMs: number;
  /** The most so far. */
  readonly peakRssMib: number;
};

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const [bundle = ''] = process.argv.slice(2);
/** What the stack gives the function. */
const TIMEOUT_MS = 55_000;

const { handler }: { readonly handler: Handler } = await import(pathToFileURL(bundle).href);

process.on('message', async () => {
  const startedAt = performance.now();
  await handler(
    { tick: true },
    {
      functionName: 'bench',
      awsRequestId: 'bench',
      getRemainingTimeInMillis: () => startedAt + TIMEOUT_MS - performance.now(),
    },
  );
  const figures: InvocationFigures = {
    tickMs: performance.now() - startedAt,
    peakRssMib: process.resourceUsage().maxRSS / 1024,
  };
  process.send?.(figures);
});
