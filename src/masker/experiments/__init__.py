"""The paper's experiments: recipes as data, the plan and the runner, the paper's numbers."""
