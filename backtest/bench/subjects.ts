/** What the bench runs the policies on: generated traces of a scenario, or one trace file. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';
import { readConfig } from '../../lambda/config/read.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import { configFileOf } from '../scenarios/index.ts';
import { readTraceFile } from '../trace/file.ts';
import { generateTrace } from '../trace/generate/generate.ts';
import type { Scenario } from '../trace/generate/scenario.ts';
import type { Trace } from '../trace/trace.ts';

export type Subject = {
  readonly name: string;
  readonly days: number;
  readonly traceOf: (seed: number) => Trace;
  /** The configuration. The arguments replace its prices. */
  readonly configAt: (prices: Prices) => Deployment;
};

/** In dollars. Undefined: as configured. */
export type Prices = {
  /** One minute of a person. */
  readonly waiting?: number | undefined;
  /** One launch, in addition to the task. */
  readonly launch?: number | undefined;
};

/** Each seed gives another trace. */
export function scenarioSubject(scenario: Scenario, days: number): Subject {
  return {
    ...{ name: scenario.name, days },
    traceOf: (seed) => generateTrace(scenario, { seed, days }),
    configAt: configReader(configFileOf(scenario)),
  };
}

/** One pool of up to 100 tasks, for the trace of a public log. */
const ONE_POOL = fileURLToPath(new URL('one-pool.yaml', import.meta.url));

/** Each seed gives other start times to the same trace. Throws TraceError. */
export function traceSubject(file: string, configFile = ONE_POOL): Subject {
  const { trace } = readTraceFile(file);
  const days = Math.round((trace.to - trace.from) / DAY_MS);
  return { name: trace.name, days, traceOf: () => trace, configAt: configReader(configFile) };
}

function configReader(file: string): Subject['configAt'] {
  const text = readFileSync(file, 'utf8');
  return ({ waiting, launch }) => {
    const document = parseDocument(text);
    if (waiting !== undefined) document.set('waiting', { person: waiting, autostart: waiting });
    const { config } = readConfig(document.toString(), file);
    if (launch === undefined) return config;
    return { ...config, pools: config.pools.map((pool) => ({ ...pool, dollarsPerLaunch: launch })) };
  };
}
