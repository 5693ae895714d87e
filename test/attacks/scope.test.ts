import { checkFamily } from './check-family.ts';
import { scope } from './families/scope.ts';

checkFamily(scope);
