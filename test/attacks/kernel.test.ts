import { checkFamily } from './check-family.ts';
import { kernel } from './families/kernel.ts';

checkFamily(kernel);
