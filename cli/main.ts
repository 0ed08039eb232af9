#!/usr/bin/env node
import type { EpochMs } from '../lambda/core/brands.ts';
import { runCli } from './program.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  now: () => Date.now() as EpochMs,
});
