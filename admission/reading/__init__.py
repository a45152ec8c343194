"""The read gate: may this memory be used for this question? Query context, axes, policies, audit trace."""
