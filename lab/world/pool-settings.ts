/**
 * The settings of a pool that change what drains. The model check, the random worlds and the deployment of the bench write
 * configurations of their own: each says which value it plays, or `undefined` for the default. A new setting does
 * not compile there, until it is played or listed here; the replay plays what it is given.
 */
import type * as z from 'zod';
import type { poolSchema } from '../../lambda/config/schema/schema.ts';

type Written = z.input<typeof poolSchema>;

type Names<Name extends keyof Written> = Name;

/** What a task is, how its daemon authenticates, and what is launched when. */
type WithoutDrains = Names<
  | ('name' | 'organization' | 'tags' | 'key' | 'psk' | 'token' | 'scaleIn')
  | ('image' | 'cpu' | 'memory' | 'architecture' | 'spot' | 'ephemeralStorage')
  | ('environment' | 'secrets' | 'taskRole' | 'bindTaskRole')
  | ('waiting' | 'dollarsPerLaunch' | 'wake' | 'startTime' | 'peers')
>;

type Draining = Exclude<keyof Written, WithoutDrains>;

export type DrainSettings = { readonly [Name in Draining]: Written[Name] };
