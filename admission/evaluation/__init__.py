"""Measurements that stand on the gate: nothing in the gate knows them."""
