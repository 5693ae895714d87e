import { checkFamily } from './check-family.ts';
import { proxy } from './families/proxy.ts';

checkFamily(proxy);
