import { checkFamily } from './check-family.ts';
import { exhaustion } from './families/exhaustion.ts';

checkFamily(exhaustion);
