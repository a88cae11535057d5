"""What is promised, lost and at risk: guarantees with their verifiers, measures, attackers, drawn rows."""
