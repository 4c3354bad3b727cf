//! Every kind of folder keeps the same contract; a crash image keeps the model's.
