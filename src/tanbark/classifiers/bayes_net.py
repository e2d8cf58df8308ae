"""BayesNet: the best network of any shape."""

from __future__ import annotations

from tanbark.classifiers.network_search import NetworkSearchClassifier


class BayesNet(NetworkSearchClassifier):
    """The Bayesian network of greatest score over the attributes and the class.

    The class is a node like the others. With ``search="exact"`` and the BDeu score it is GBN-BDeu of Sugahara, Uto and
    Ueno (2018), with ``search="greedy"`` their gGBN-BDeu, and with ``criterion="cmdl"`` GBN-CMDL.

    Parameters
    ----------
    search : {"auto", "exact", "greedy"}
        "exact" finds the best structure of all, "greedy" climbs to one that no single step makes better. "auto" is
        exact up to 20 nodes, the class among them, and greedy, with a warning, beyond. `search_` says which it was.
    criterion : {"bdeu", "bds", "bic", "aic", "k2", "cmdl"}
        What is maximised: see `tanbark.scores`. "cmdl" is no sum over families and is always searched greedily.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`. A table comes from the rows that have the whole
        family, except with Dirichlet parameters under the class and at most one attribute, as in `TAN`.
    ess : float
        Equivalent sample size of the criterion and of the Dirichlet prior; also N0 of "softened" and m of "m".
    max_parents : int, optional
        How many parents a node may have; None is no limit.
    forbidden, required : lists of pairs (parent, child) of names
        Edges that may not, and edges that must be there, by the names that `network_` uses: those of the columns, x0,
        x1 and so on where they have none; for the class that of `y`, "class" where it has none.
    max_memory : float, optional
        How many bytes an exact search may use; None is most of what is free. A search that needs more is refused before
        it begins.
    tabu : int
        How many of the latest structures a greedy search does not go back to, and after how many steps in vain it
        stops; 0 is plain hill climbing.
    restarts : int
        How many times a greedy search climbs again, from the best structure so far after random steps.
    verbose : bool
        Whether to show a progress bar, on stderr.
    class_prior : array of shape (classes,), optional
        Probabilities of the classes to use instead of the learned ones.
    encoder : Encoder, Schema or None
        How the table becomes codes; None is ``Encoder()``, a Schema is used as it is.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all.
    random_state : int, RandomState or None
        Of restarts, and of the values drawn for rows that lack too much to be summed out; drawn once, so a row's answer
        is always the same.

    Attributes
    ----------
    classes_ : array
    network_ : Network
    counts_ : Counts
    schema_ : Schema
    log_score_ : float
        The criterion's value for the structure, in nats, greater being better; what is missing counts as a level. After
        an exact search no structure has a greater one.
    search_ : {"exact", "greedy"}

    References
    ----------
    Silander, T. and Myllymaki, P. (2006). A simple approach for finding the globally optimal Bayesian network
    structure. UAI, 445-452.
    Sugahara, S., Uto, M. and Ueno, M. (2018). Exact learning augmented naive Bayes classifier. PGM, 439-450.

    Examples
    --------
    >>> from tanbark import BayesNet
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = BayesNet().fit(X, y)
    >>> model.network_.markov_blanket("class")
    ('x2', 'x3')
    >>> model.search_, round(model.log_score_, 2)
    ('exact', -100.76)
    """

    _augmented = False
