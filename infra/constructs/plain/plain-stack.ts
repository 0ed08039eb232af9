import { Aws, Fn, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { PlainSynthesizer } from './plain-synthesizer.ts';

/**
 * A stack for a plain CloudFormation template. The template knows neither its account, nor its
 * region, nor its stack's name, so the same template can make several stacks in one account.
 */
export class PlainStack extends Stack {
  override readonly synthesizer: PlainSynthesizer;

  constructor(scope: Construct, id: string) {
    const synthesizer = new PlainSynthesizer();
    super(scope, id, { synthesizer, analyticsReporting: false });
    this.synthesizer = synthesizer;
    // The name that the stack gets when it is created. CDK's constructor needs a literal one.
    Object.defineProperty(this, 'stackName', { value: Aws.STACK_NAME });
  }
}

/** Whether this construct is in a plain template. */
export function isPlain(scope: Construct): boolean {
  return Stack.of(scope) instanceof PlainStack;
}

/**
 * A name of at most 64 characters that only one stack of the account has. CDK would make one of the
 * names of the constructs, which are the same in each stack of a plain template. Undefined in other
 * stacks.
 */
export function plainName(scope: Construct): string | undefined {
  // An id of a stack ends with a UUID: arn:aws:cloudformation:…:stack/name/uuid
  return isPlain(scope) ? `coder-autoscaler-${Fn.select(2, Fn.split('/', Aws.STACK_ID))}` : undefined;
}
