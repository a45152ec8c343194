"""Who answers the questions and who marks the answers: models, judges, and what asking them costs."""
